"""Words by which languages are recognised: those of grammar, and those of illness and of asking."""

# Those that English has too (in, on, also, was, die) are in the lists: they count half.
FUNCTION_WORDS = {
    "cs": """
        ten ta to ti jeho jejich pokud protože také ani už byl byla bylo jsme jsem jste mít často více
        méně při proto které kterou kterým kteří tím tom tak je jsou jak jaké jaká jaký která který pro
        nebo proč kdy kde zda že aby mezi není mají má může lze existuje jako než proti od po před kolik
        kdo co se u na s ve ze k mohu častěji dětí léčí léčit působí pomáhá způsobují užívat
    """,
    "da": """
        vi du han hun sig sin kun også men hvis når fordi mere end ofte hvor denne dette disse var blev
        været har havde vil ville kunne skulle er og hvad hvilke hvilken hvordan hvorfor hvornår hvem ved
        til af på med ikke der det en et kan skal mod hos eller om som får findes jeg den de mellem efter
        være bliver hjælper må årsag hvorledes
    """,
    "de": """
        als an wenn weil dass nur noch sehr mehr wir sie er ich ihr diese dieser dieses vom ins zum sein
        seine ihre wurde wurden werde kein keine häufig oft gegenüber unter ohne vor wieso wieviel hilft
        helfen soll sollte muss darf der das ist sind und wie wer wo warum wann welche welcher welches
        wird werden bei mit von für gegen nicht ein eine einer einem einen den dem des zu zur auf auch
        oder gibt es kann man haben hat sich zwischen mein durch nach aus beim im am über welchen was die
        diagnose wieviele mich dir macht bekommt dürfen sollen
    """,
    "es": """
        este esta estos estas ese eso muy también pero solo ser fue fueron era eran hace ha han nos les le
        te yo durante sufren debe deben el la los las es son qué que cuál cuáles cómo por para con en del
        al una un unos y o se puede hay existe quién dónde cuándo está están más entre sobre sin como sus
        su lo mi tiene tienen cuánto porque contra según e de puedo debo tomar ayuda sirve hacen
    """,
    "fi": """
        on ja mikä mitkä mitä miten miksi milloin missä kuka onko voiko ovat ei se että tai kun ovatko
        mistä kuinka voi myös sekä saako auttaako voivat saavat useammin nuorilla aikana kanssa ilman
        paljon sen mihin johtaa jos olla pitää voidaan tulee minkä millainen
    """,
    "fr": """
        cet nous vous ils elles leur leurs sous très aussi plus mais si car été avoir fait cela ça on y
        dont lors chez pendant le la les des du est sont et quel quelle quels quelles comment pourquoi où
        que qui quoi un une dans avec pour sur par aux au ne pas ce cette ces il elle peut être entre
        contre ou à sans se sa son ses je mon en l d qu c s combien quand faire de puis suis peuvent doit
        faut dois entraîne
    """,
    "hu": """
        a az és mi milyen hogyan miért mikor hol ki van nem egy vagy hogy lehet melyik kell mely ha között
        mint ellen mennyi vannak szabad alatt elleni okoz segít számára esetén során kik hat vagyok
        leggyakoribb nél gyakoribb
    """,
    "id": """
        apa yang dan di untuk dengan adalah bagaimana mengapa kapan siapa pada dari apakah tidak ini itu
        atau dapat oleh ke dalam antara bolehkah gejala saat lebih sering cara bisa boleh berapa saya
        tentang seperti tanpa selama akibat
    """,
    "it": """
        gli questi queste come anche solo molto spesso essere avere era sono stato stata ci mi ti loro suo
        sua farà fare fa posso quando senza durante il lo la le è che quali quale qual chi dove perché per
        con del della dei delle dello degli di un una uno nel nella nei negli si può più non tra fra al
        alla ai da dal esiste ha hanno e l dell nell all quanto contro su sul questa questo o devo fanno
        causano aiuta cosa quanti
    """,
    "nl": """
        als die dat dit deze hij zij wij je er geen wel ook maar meer vaak zonder onder over tijdens haar
        hun was waren had zou zouden moeten mag zich bestaat helpt komt komen het een de is zijn en wat
        welke hoe waarom wanneer waar wie bij van voor met tegen niet op te aan kan kunnen worden wordt
        door naar dan tot uit heeft hebben ik mijn tussen of om moet men krijgen doet doen
    """,
    "no": """
        vi du han hun seg sin kun også men hvis når fordi mer enn ofte hvor denne dette disse var ble vært
        har hadde vil ville kunne skulle er og hva hvilke hvilken hvordan hvorfor hvem ved til av på med
        ikke det en et kan skal mot hos eller om som får finnes jeg den de mellom etter være blir hjelper
        må
    """,
    "pl": """
        ten ta te ich jego jej jeśli ponieważ także tylko już był była było być bardzo częściej więcej
        mniej mieć tym tego tej takie jest są jak jakie jaki jaka które która który czy i w na z do dla
        nie przy przez oraz lub dlaczego kiedy gdzie kto co się od po można u o że jako gdy niż za między
        ile ma może istnieje mogę wpływ dzieci przeciw powoduje powodują pomaga brać działa
    """,
    "pt": """
        este esta isso seu sua muito também só ser era foi foram estar tem havia lhe nós você já pelos
        pelas aos às sobre durante o os as é são que qual quais como por para com em do da dos das no na
        nos nas um uma e ou se pode há existe quem onde quando está não mais entre sem ao à pelo pela
        posso ter têm quanto contra de faço meu minha devo ajuda serve fazem
    """,
    "ro": """
        este sunt care ce cum de la și în pentru cu pe din un o nu se poate când unde cine sau între mai
        există că al ale cel cea prin dacă cât pot împotriva fac asupra timpul sa să dintre fără după unui
        unei
    """,
    "sv": """
        vi du han hon sig sin bara också men om när eftersom mer oftare hur denna detta dessa var blev
        varit har hade vill ville kunde skulle så är och vad vilka vilken vilket varför vem vid till av på
        med inte det en ett kan ska mot hos eller som får finns jag den de mellan efter vara blir för än
        att hjälper
    """,
    "tr": """
        ve bir bu ne nedir nasıl neden hangi kim mi mı mu mü için ile var olan olarak daha çok gibi da
        kadar değil veya arasında nelerdir nerede zaman eder midir mıdır gelir etkiler yapar kullanılır
        olur kaç miyim mıyım sık karşı sonra
    """,
    "vi": """
        là gì và có không của cho với trong các những một như thế nào tại sao khi được bị ở này để từ
        người
    """,
}

# Without accents, except for Vietnamese. Words of up to four letters are whole words, longer ones beginnings
# of words; after a hyphen, they are any part of a word, because some languages join words. What biomedical
# English has, or begins with, is not here: drugs, genes and Latin names are the same everywhere.
CONTENT_WORDS = {
    "cs": """
        nemoc -nemocn lecb leceb leci lek leky leku pricin priznak bolest krev krve krevni tlak -rakovin
        prsu plic plicn ledvin jatr srdc srdecn mozk dite deti detsk tehoten zen zeny muzu vedlejsi ucink
        ucinn ockovan zpusob pusob snizen zvysen stitn zlaz riziko rizikov prevenc vysetren dedicn krevn
        cukrovk zad rany hlavy kozni poruch spank kamen strav vyziv kuze koz oci ocni zaludk strev alergi
        infekc zlomenin pacient leka onemocn nador zanet horeck kasel unav vyskyt vliv ucin souvislost
        dusledk diagnoz pozna dospel starsi zdrav mesic stud imunit bakteri zivot vahy obezit vysoky nizky
    """,
    "da": """
        sygdom -sygdom behandling -behandling bivirkning arsag lægemid blodtryk blodprop kræft -kræft
        smerte -smerter børn kvinder mænd hjertesvigt hjerne nyre nyrer lunge lungesyg risikofaktor
        graviditet forebyg hjælper virkning virker forarsag stofskift arvelig sukkersyg hyppig brystkræft
        kvalme rygere helvedesild ældre sovn sovnforst kost kosthold hud ojne ojensy mave mavesar tarm
        knogle knoglebrud vaegt patienter lage laege ondt betaend feber traethed traet sammenhaeng folger
        diagnosticer salve genkend voksne sundhed maned undersog fedme hojt lavt forstyr nyresten
        -betændelse
    """,
    "de": """
        -krankheit krankheit behandlung -behandlung nebenwirkung wirkung wirkt wirksam ursache ursach
        medikament blutdruck -blutdruck schmerz -schmerz krebserkrank kindern frauen herzinfarkt
        herzschwach gehirn nieren niere lunge lungen risikofaktor schwanger vorbeug impfung impfstoff
        verursach symptome schilddrus schlaganfall haufig erblich ubelkeit migrane raucher erkrank
        -erkrankung gefahrlich gefahr -entzundung entzundung gesund -heilung arznei -mangel diagnostik
        gurtelrose zuckerkrank bekomm senken schlaf -schlaf -storung storung ernahr haut augen magen darm
        knochen gewicht arzt arzte entzund fieber husten mudigk zusammenh folgen folge salbe erkenn
        erwachs gesundheit monat untersuch fettleib hoher hohe niedrig blut -blut zahne ruckensch kopfschm
        bauch gelenk muskel -mittel demenz verlauf therapien verhind ursprung
    """,
    "es": """
        enfermedad tratamiento causas causan sintoma efectos secundari presion sangre dolor dolores
        corazon rinon higado ninos ninas mujer mujeres hombres riesgo embaraz vacuna prevencion deteccion
        fumador hereditari nauseas eficacia migrana quistica diagnostico factores mama cardiaca cronico
        cronica sueno trastorno piel ojos estomago hueso peso pacientes fiebre cansancio relacion
        consecuenc pomada crema reconoc adultos ancianos salud meses obesidad bajo calculos cabeza dientes
        espalda alergia infeccion tumores vejez alimentac
    """,
    "fi": """
        -tauti taudi -taudin -sairau sairau hoito -hoito hoidet hoido laakk laake -laak haitta -vaikut
        vaikut syyt oire oireet oireid kipu kivun -kivun -kipu veren -veren verenpain syopa -syopa -syovan
        syovan -syova lapsi lapsil lapsen nainen naisi naisil miehi sydan sydam aivo aivohalv munuai
        maksan keuhko riski -riski riskitek raska rasku raskau ehkais aiheut perinnol rokot -rokot seulon
        kilpirauh krooni geenit alenta teho tulehdu pahoinvoin migreeni tupako auttaa unihai unetto ruoka
        ruokaval iho ihon silma silman vatsa suolist luun luunmur paino potila potilai laakari tulehd
        kuume yska vasymys yhteys yhteytt seurau tunnist aikuis ikaanty ikaan tervey kuukau tutkim
        lihavuus korkea matala hammas hampaa lihas selka selan paansarky masennu kihti kihdi hairio
        -hairio -hairiot -kivet -tulehdus allergiat
    """,
    "fr": """
        maladie traitement medicaments effets secondaires indesirables douleur douleurs sang sanguin coeur
        foie poumon poumons pulmonaire cerveau enfant enfants femmes hommes risque enceinte grossesse
        vaccins depistage symptomes fumeurs hereditaire nausees efficacite agit aide soigner guerir
        causent mucoviscidose sein lombaires chronique chroniques facteurs hypertendu embolie sommeil peau
        yeux estomac poids medecin fievre toux lien pommade creme reconnait reconnaitre adultes agees
        sante mois etude obesite calculs renaux tete tumeur tumeurs alimentation vieilliss soulager
        meilleur
    """,
    "hu": """
        -betegseg betegseg kezel -kezel gyogyszer mellekhatas hatas hatasa tunet okoz okai fajdalom
        -fajdal -fajas vernyomas verny rakos gyermek gyerek nok ferfi sziv agyi vese veset vesere maj tudo
        tuden tudorak kockazat terhes oltas vedoolt megeloz szures szurese gyakori orokl orokletes szed
        segit pajzsmirig emlorak csokken noveli hatekony gyulladas cukorbeteg mely tenyezo korkep migren
        kronikus genek szedhet alvas etrend bor borbet szem szemb gyomor bel belgyull csont csontt suly
        beteg betegek orvos gyullad laz kohog farads osszefugg kovetkez diagnoz kenocs ismer feln felnott
        idos egeszs honap vizsgal elhiz magas alacsony fogak izom hatf fejfaj depresszio koszveny -zavar
        zavar veseko fertozes daganat
    """,
    "id": """
        penyakit pengobatan mengobati obat obat-obat penyebab menyebabkan gejala efek samping tekanan
        darah kanker nyeri sakit jantung ginjal paru otak anak wanita kehamilan risiko faktor vaksin
        pencegahan mencegah keturunan perokok menurunkan meningkatkan bekerja cara minum kronis deteksi
        payudara pria lansia membantu mual terkena pasien bolehkah efektivitas punggung tidur gangguan
        makanan kulit perut usus tulang patah berat dokter demam batuk kelelahan hubungan akibat salep
        krim mengenal dewasa kesehatan bulan penelitian tinggi rendah batu gigi otot kepala alergi infeksi
        pernapas gula asam urat radang luka bayi
    """,
    "it": """
        malattia malattie trattament terapia farmaci farmaco causano sintomi effetti collaterali pressione
        sangue dolore schiena cuore rene reni fegato polmonare polmoni cervello bambini donne uomini
        rischio gravidanza prevenzion fumatori ereditari efficacia agisce cura cistica tumore seno fattori
        cronico cronica emicrania ipotiroid abbassano aiuta sonno occhi stomaco ossa frattur peso pazient
        febbre tosse stanchezz legame conseguenz pomata crema riconosc adulti anziani salute mesi obesita
        basso calcoli renali muscol infezion invecch alimentaz gotta meglio
    """,
    "nl": """
        ziekte -ziekte behandel -behandeling bijwerking werking werkzaam oorzaak oorzak veroorza medicijn
        geneesmid bloeddruk -kanker pijn -pijn kinderen vrouwen mannen hart hartfalen hersen nieren longen
        longembol longkank risicofactor beroerte zwanger vaccinatie voorkom voorkomen erfelijk misselijk
        schildklier klachten helpen vaker rokers taaislijm ontstek symptomen borstkanker bevolkingsonderz
        onderzoek gordelroos verlagen slikken slaap -stoornis stoornis voeding huid ogen maag darm
        botbreuk botten gewicht dokter koorts hoesten vermoeid verband gevolg zalf herken volwassen
        ouderen gezondheid maand onderz overgewicht hoge lage stenen -stenen nierstenen hoofdpijn tanden
        spieren rug infectie tumoren afvallen bloedgl suikerz dieet jicht verminder
    """,
    "no": """
        sykdom -sykdom behandling -behandling bivirkning arsak legemid medisin blodtrykk blodpropp -kreft
        kreft smerte -smerter barn kvinner menn hjerte hjerne hjernesl nyre nyrene lunge risikofaktor
        svangersk forebyg hjelper virkning virker forarsak stoffskift arvelig sukkersyk oftere brystkreft
        kvalme røyker helvetesild vaksine eldre sovn -forstyrrelse kosthold kost hud oye oyne magesar tarm
        bein beinbrudd vekt pasient lege betenn feber tretthet sammenheng folger diagnoser salve krem
        gjenkjenn voksne helse maned undersok fedme hoyt lavt nyrestein tenner muskler hodepine ryggen
        betennelse infeksjon svulst
    """,
    "pl": """
        chorob choruj leczen leczyc leki lekow przyczyn objaw skutk uboczn bolu bol cisnieni krwi rak raka
        sercow nerki nerek watrob pluc plucn mozg dzieci kobiet mezczyzn ryzyk ciazy ciaza szczepion
        badani dziedzicz powoduj dziala skuteczn zapobieg czynnik udar udaru tarczyc niedoczyn piersi
        przewlekl przesiew cukrzyc nudnosci pomaga geny obniza snu zaburz skora skory oczu oczy zolad
        jelit kosci zlaman masa pacjent lekarz goraczk kaszel zmeczen zwiazek nastepstw rozpozn masc krem
        doros starsz osob zdrowi miesiac badan otylosc wysok niski kamic nerkow kamieni glowy zeby miesni
        plecow alergi zakazen nowotwor zapalen stosowan depresje
    """,
    "pt": """
        doenca doencas tratamento remedio causas sintomas efeitos colaterais pressao sangue dores coracao
        rins figado pulmao criancas mulher mulheres homens risco gravidez vacina prevencao rastreamento
        fumantes hereditaria nauseas eficacia enxaqueca atua cistica diagnostico fatores mama cronica
        cronico baixam tomar ajuda tratar quais sono pele olhos estomago ossos fratura peso pacientes
        febre tosse cansaco relacao consequencias pomada creme reconhec adultos idosos saude meses estudo
        obesidade baixo calculos cabeca dentes costas alergia infeccao tumores envelhec alimentac gota
        alcool depressao melhor
    """,
    "ro": """
        boala boli bolii bolile tratament tratamentul tratea cauza cauze cauzel simptom efecte efectel
        secundar tensiun durer dureri inima rinich ficat plaman pulmonara creier copii femei barbati
        vaccinul vaccinur preveni provoaca ereditar fumator eficacitat depistar chistica migrena ajuta
        actioneaza scad impotriva cancerul sanului accidentul cronice hipotiroid somn tulbur piele ochi
        oase greutat pacient febra tuse obosea legatur consecint unguent crema recunoas adulti varstnic
        sanatat luni obezit pietre capului dinti muschi spate alergi aliment guta inflamat diabetul grasa
    """,
    "sv": """
        sjukdom -sjukdom behandling -behandling behandlas biverkning orsak orsaker orsakar lakemed
        blodtryck blodpropp smarta -smarta barn kvinnor hjarta hjarn hjartsvik njure njurar lunga lungcanc
        lungemb riskfaktor graviditet forebygg hjalper hjalp verkar verkan arftlig sockersjuk oftare
        brostcanc illamaende rokare baltros symtom skoldkort sanker somn -storning -storningar kost hud
        ogon magsar tarm ben benbrott vikt patienter lakare feber hosta trotthet samband foljder
        diagnostis kram kanner vuxna halsa manad undersok fetma hogt lagt njursten tander muskler
        huvudvark ryggen infektion tumorer kronisk gikt jarnbrist nedsatt
    """,
    "tr": """
        hastalig hastali hastala tedavi ilac ilacla nedeni nedenle belirti etki etkile yan etkin tansiyon
        kan kanser agri agrisi agrila kalp kalb bobrek karaciger akciger beyin cocuk kadin erkek hamile
        gebelik asisi onle korun kalitsal sigara iyi yol meme taramas tarama genler romatizma seker nasil
        hangi bulanti neden tedavisi ilaclar kronik artir azalt uyku bozukl beslenm deri goz gozde mide
        bagirs kemik kirik kilo hasta doktor ates oksur yorgunl iliski sonuc teshis merhem krem anlasil
        yetiskin yasli saglik calisma obezite yuksek dusuk tasi alerji enfeks vucut bagisik gida kansizl
        iltih bozuklug arasinda
    """,
    "vi": """
        bệnh thuốc điều trị nguyên nhân triệu chứng tác dụng phụ huyết máu đau ung thư tim thận gan phổi
        trẻ nữ nguy cơ thai vắc phòng ngừa gây hiệu quả mạn tính yếu tố tầm soát di truyền giảm tăng uống
        ngủ ăn da mắt dạ dày ruột xương gãy cân sĩ sốt ho mệt liên quan hậu chẩn đoán kem mỡ nhận biết lớn
        tuổi già sức khỏe tháng béo cao thấp sỏi đầu răng lưng dị ứng nhiễm khuẩn viêm trầm cảm rối loạn
        chế độ rượu
    """,
}
